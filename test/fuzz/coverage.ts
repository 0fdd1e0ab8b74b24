// Counts what a process executes, by the coverage of V8.
import { Session } from 'node:inspector'
import { fileURLToPath } from 'node:url'

interface Range {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}

interface Script {
  readonly scriptId: string
  readonly url: string
  readonly functions: readonly { readonly functionName: string; readonly ranges: readonly Range[] }[]
}

interface OwnFunction {
  readonly name: string
  readonly start: number
  readonly end: number
  readonly isCalled: boolean
}

/**
 * Code that takes text or bytes apart, in which readers of formats differ from other code. Not what compares texts (`test`) or
 * converts one value (`Number`), which almost every file does.
 */
const parsing =
  /\bJSON\.parse\(|\bparseJson(?:IfValid)?\(|\bparseTree\(|\.read(?:Big)?(?:U?Int|Float|Double)\w*\(|\.(?:exec|match|matchAll|split|indexOf|lastIndexOf|charCodeAt|codePointAt|subarray)\(|\bdecodeURI|\b(?:Text|String)Decoder\b|\btoString\(['"](?:latin1|utf8|utf16le|ascii)/

export const parses = (source: string): boolean => parsing.test(source)

/**
 * Starts counting; to be called before the code to be counted is loaded.
 * @param root the project's folder, with a slash at its end
 */
export function startCoverage(root: string) {
  const session = new Session()
  session.connect()
  function post<T>(method: string, parameters: object = {}): T {
    let reply: T | undefined
    session.post(method, parameters, (error, result) => {
      if (error !== null) throw error
      reply = result as T
    })
    return reply as T
  }
  post('Profiler.enable')
  post('Debugger.enable')
  post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  /** Functions of the project by file and place. The inner ones of a function exist only once it has been called. */
  const files = new Map<string, Map<number, OwnFunction>>()
  const sources = new Map<string, string>()
  const reached = new Set<string>()

  /** Remembers the functions of a script, and which of them have been called. */
  function addFunctions({ scriptId, functions }: Script, file: string): void {
    if (!files.has(file)) {
      files.set(file, new Map())
      sources.set(file, post<{ scriptSource: string }>('Debugger.getScriptSource', { scriptId }).scriptSource)
    }
    const known = files.get(file)!
    for (const { functionName: name, ranges } of functions) {
      const { startOffset: start, endOffset: end, count } = ranges[0]!
      // The whole module has run, or it would not be here.
      if (start > 0) known.set(start, { name, start, end, isCalled: count > 0 || known.get(start)?.isCalled === true })
    }
  }

  /** The source of a function without those inside of it. */
  function ownSource(file: string, { start, end }: OwnFunction): string {
    const source = sources.get(file)!
    let [own, at] = ['', start]
    for (const inner of [...files.get(file)!.values()].toSorted((one, other) => one.start - other.start)) {
      if (inner.start <= start || inner.end > end || inner.start < at) continue
      own += source.slice(at, inner.start)
      at = inner.end
    }
    return own + source.slice(at, end)
  }

  return {
    /** Number of blocks of code executed since the last call, without those of Node.js, and of those of the project never executed before. */
    take(): { readonly steps: number; readonly newBlocks: number } {
      let steps = 0
      const before = reached.size
      const { result } = post<{ result: readonly Script[] }>('Profiler.takePreciseCoverage')
      for (const script of result) {
        if (!script.url.startsWith('file:')) continue
        const file = fileURLToPath(new URL(script.url)).slice(root.length)
        const isOwn = /^(?:src|exporter)\//.test(file)
        if (isOwn) addFunctions(script, file)
        for (const { ranges } of script.functions) {
          for (const { startOffset, endOffset, count } of ranges) {
            steps += count
            if (isOwn && count > 0) reached.add(`${script.scriptId}:${startOffset}:${endOffset}`)
          }
        }
      }
      return { steps, newBlocks: reached.size - before }
    },
    /** The files that were loaded, and those of their functions that parse and were not called: by name, or by the file if they have none. */
    found: () => ({
      loaded: [...files.keys()],
      notCalled: [
        ...new Set(
          [...files].flatMap(([file, functions]) =>
            [...functions.values()]
              .filter((one) => !one.isCalled && parses(ownSource(file, one)))
              .map(({ name }) => `${file} ${name}`.trim()),
          ),
        ),
      ],
    }),
  }
}
