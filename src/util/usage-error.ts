/** Wrong arguments of a command. The message names the valid ones; exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
