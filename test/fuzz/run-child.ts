// A process that runs readers, one for each message.
import { deadline, notWholeMs, wholeMs } from './peer-readers.ts'
import { firstExample, writeProgress } from './progress.ts'
import { type FuzzedReader, readers } from './readers.ts'
import { type Failure, type Inputs, runReader } from './run-reader.ts'

export interface RunRequest {
  readonly name: string
  readonly inputs: Inputs
}

export interface RunReply {
  readonly failure?: Failure
  readonly slowest: readonly unknown[]
  /** By how much the memory of the process has grown beyond what it ever had before, KiB. */
  readonly grownBy: number
}

/** Returns the first valid example that the reader refuses. */
async function refusedExample({ run, examples, validCount }: FuzzedReader): Promise<Failure | undefined> {
  deadline.ms = wholeMs
  for (const [index, input] of examples.slice(0, validCount).entries()) {
    writeProgress(firstExample + index)
    try {
      await run(input as never)
    } catch (error) {
      return { input, reason: `a valid example is refused: ${(error as Error).stack}` }
    }
  }
  return undefined
}

async function answer({ name, inputs }: RunRequest): Promise<RunReply> {
  const reader = readers[name]!
  const { maxRSS } = process.resourceUsage()
  const failure = await refusedExample(reader)
  if (failure !== undefined) return { failure, slowest: [], grownBy: 0 }
  // Most of the inputs of connections are not whole.
  deadline.ms = notWholeMs
  const outcome = await runReader(reader, inputs, writeProgress)
  return { ...outcome, grownBy: process.resourceUsage().maxRSS - maxRSS }
}

process.on('message', (request: RunRequest) => void answer(request).then((reply) => process.send!(reply)))
