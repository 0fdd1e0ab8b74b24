import { createInterface, type Interface } from 'node:readline'

/** Reads lines from the user at the terminal, or from any other input. */
export interface Prompt {
  /**
   * Prints a prompt and returns the next line of the input.
   * @throws Error if the input has ended; the signal's reason when it is aborted
   */
  readLine(prompt: string, signal: AbortSignal): Promise<string>
  close(): void
}

interface Waiting {
  resolve(line: string): void
  reject(reason: unknown): void
}

/** Creates a prompt. The input is not read before the first call of readLine(). */
export function createPrompt(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Prompt {
  // One reader for all calls: lines may arrive before they are requested.
  let reader: Interface | undefined
  const buffered: string[] = []
  let ended = false
  let waiting: Waiting | undefined
  const endError = () => new Error('The input ended before an answer. Run the command in a terminal.')

  function open(): Interface {
    const made = createInterface({ input, output })
    made.on('line', (line) => {
      if (waiting === undefined) buffered.push(line)
      else waiting.resolve(line)
      // The next line may arrive before the caller continues.
      waiting = undefined
    })
    made.on('close', () => {
      ended = true
      waiting?.reject(endError())
    })
    // On a terminal, readline consumes Ctrl+C.
    made.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
    return made
  }

  return {
    async readLine(prompt, signal) {
      signal.throwIfAborted()
      reader ??= open()
      const line = buffered.shift()
      if (line !== undefined) return line
      if (ended) throw endError()
      reader.setPrompt(prompt)
      reader.prompt()
      const stop = () => waiting?.reject(signal.reason)
      signal.addEventListener('abort', stop, { once: true })
      try {
        return await new Promise<string>((resolve, reject) => {
          waiting = { resolve, reject }
        })
      } finally {
        waiting = undefined
        signal.removeEventListener('abort', stop)
      }
    },
    close() {
      reader?.close()
    },
  }
}
