import { createInterface, type Interface } from 'node:readline'

/** The person at the terminal, or whatever stands in for one. */
export interface Prompt {
  /**
   * The next line that is typed.
   * @throws Error where the input has ended; the signal's reason when it is aborted
   */
  ask(question: string, signal: AbortSignal): Promise<string>
  close(): void
}

interface Waiting {
  resolve(line: string): void
  reject(reason: unknown): void
}

/** Asks for lines of an input, one at a time. Nothing is read of it before the first question. */
export function createPrompt(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Prompt {
  // One reader for all questions: lines may come before they are asked for.
  let reader: Interface | undefined
  const typed: string[] = []
  let ended = false
  let waiting: Waiting | undefined
  const endError = () => new Error('The input has ended before there was an answer. Run the command in a terminal.')

  function open(): Interface {
    const made = createInterface({ input, output })
    made.on('line', (line) => {
      if (waiting === undefined) typed.push(line)
      else waiting.resolve(line)
      // The next line may come before the one who asked goes on.
      waiting = undefined
    })
    made.on('close', () => {
      ended = true
      waiting?.reject(endError())
    })
    // On a terminal the reader takes Ctrl+C for itself.
    made.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
    return made
  }

  return {
    async ask(question, signal) {
      signal.throwIfAborted()
      reader ??= open()
      const line = typed.shift()
      if (line !== undefined) return line
      if (ended) throw endError()
      reader.setPrompt(question)
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
