import { createInterface, type Interface } from 'node:readline'
import { abortable } from '../util/abortable.ts'

/** Reads lines from the user at the terminal, or from any other input. */
export type Prompt = ReturnType<typeof createPrompt>

/** Creates a prompt. The input is not read before the first call of readLine(). */
export function createPrompt(input: NodeJS.ReadableStream, output: NodeJS.WritableStream) {
  let reader: Interface | undefined
  let lines: AsyncIterator<string> | undefined
  /** The next line, which may have been requested by a call that was aborted. */
  let next: Promise<IteratorResult<string>> | undefined
  let isClosed = false

  function open(): Interface {
    const made = createInterface({ input, output })
    // One reader for all calls: lines may arrive before they are requested.
    lines = made[Symbol.asyncIterator]()
    made.once('close', () => {
      isClosed = true
    })
    // On a terminal, readline consumes Ctrl+C.
    made.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
    return made
  }

  return {
    /**
     * Prints a prompt and returns the next line of the input.
     * @throws Error if the input has ended; the signal's reason when it is aborted
     */
    async readLine(prompt: string, signal: AbortSignal): Promise<string> {
      signal.throwIfAborted()
      reader ??= open()
      reader.setPrompt(prompt)
      if (!isClosed) reader.prompt()
      next ??= lines?.next()
      const line = next && (await abortable(next, signal))
      next = undefined
      if (line === undefined || line.done) throw new Error('The input ended before an answer. Run the command in a terminal.')
      return line.value
    },
    close() {
      reader?.close()
    },
  }
}
