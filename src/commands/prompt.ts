import { createInterface } from 'node:readline'
import { abortable } from '../util/abortable.ts'

/** Reads lines from the user at the terminal, or from any other input. */
export type Prompt = ReturnType<typeof createPrompt>

export function createPrompt(input: NodeJS.ReadableStream, output: NodeJS.WritableStream) {
  const reader = createInterface({ input, output })
  // One iterator for all calls: lines may arrive before they are requested.
  const lines = reader[Symbol.asyncIterator]()
  /** The next line, which may have been requested by a call that was aborted. */
  let next: Promise<IteratorResult<string>> | undefined
  let isClosed = false
  reader.once('close', () => {
    isClosed = true
  })
  // On a terminal, readline consumes Ctrl+C.
  reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))

  return {
    /**
     * Prints a prompt and returns the next line of the input.
     * @throws Error if the input has ended; the signal's reason when it is aborted
     */
    async readLine(prompt: string, signal: AbortSignal): Promise<string> {
      signal.throwIfAborted()
      reader.setPrompt(prompt)
      if (!isClosed) reader.prompt()
      next ??= lines.next()
      const line = await abortable(next, signal)
      next = undefined
      if (line.done) throw new Error('The input ended before an answer. Run the command in a terminal.')
      return line.value
    },
    close: () => reader.close(),
  }
}
