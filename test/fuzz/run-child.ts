// A process that runs readers, one for each message.
import { deadline, notWholeMs } from './peer-readers.ts'
import { writeProgress } from './progress.ts'
import { readers } from './readers.ts'
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

// Most of the inputs of connections are not whole.
deadline.ms = notWholeMs

process.on('message', ({ name, inputs }: RunRequest) => {
  const { maxRSS } = process.resourceUsage()
  void runReader(readers[name]!, inputs, writeProgress).then((outcome) =>
    process.send!({ ...outcome, grownBy: process.resourceUsage().maxRSS - maxRSS } satisfies RunReply),
  )
})
