/** The caller asked for something that does not exist or does not fit. The message says what is expected; exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
