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

/**
 * Code that takes text or bytes apart, in which readers of formats differ from other code. Not what compares texts (`test`) or
 * converts one value (`Number`), which almost every file does.
 */
const parsing =
  /\bJSON\.parse\(|\bparseJson\(|\bparseTree\(|\.read(?:Big)?(?:U?Int|Float|Double)\w*\(|\.(?:exec|match|matchAll|split)\(|\bdecodeURI|\b(?:Text|String)Decoder\b|\btoString\(['"](?:latin1|utf8|utf16le|ascii)/

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
  /** Functions of the project that parse, by script and place, and whether they have been called. */
  const parsers = new Map<string, { readonly name: string; isCalled: boolean }>()
  const loaded = new Set<string>()
  const seen = new Set<string>()
  const reached = new Set<string>()

  /** Adds the functions of a script that parse, without those inside of them. */
  function addParsers({ scriptId, functions }: Script, file: string): void {
    if (seen.has(scriptId)) return
    seen.add(scriptId)
    loaded.add(file)
    const { scriptSource } = post<{ scriptSource: string }>('Debugger.getScriptSource', { scriptId })
    const places = functions.map(({ functionName, ranges }) => ({ functionName, ...ranges[0]! }))
    for (const { functionName, startOffset: start, endOffset: end } of places) {
      const inner = places.filter((other) => other.startOffset > start && other.endOffset <= end)
      const outermost = inner.filter(
        (one) =>
          !inner.some((other) => other !== one && other.startOffset <= one.startOffset && other.endOffset >= one.endOffset),
      )
      let [own, at] = ['', start]
      for (const { startOffset, endOffset } of outermost.toSorted((one, other) => one.startOffset - other.startOffset)) {
        own += scriptSource.slice(at, startOffset)
        at = endOffset
      }
      own += scriptSource.slice(at, end)
      // The whole module has run, or it would not be here.
      if (start > 0 && parses(own))
        parsers.set(`${scriptId}:${start}`, { name: `${file} ${functionName}`.trim(), isCalled: false })
    }
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
        if (isOwn) addParsers(script, file)
        for (const { ranges } of script.functions) {
          for (const { startOffset, endOffset, count } of ranges) {
            steps += count
            if (isOwn && count > 0) reached.add(`${script.scriptId}:${startOffset}:${endOffset}`)
          }
          const parser = isOwn ? parsers.get(`${script.scriptId}:${ranges[0]!.startOffset}`) : undefined
          if (parser !== undefined && ranges[0]!.count > 0) parser.isCalled = true
        }
      }
      return { steps, newBlocks: reached.size - before }
    },
    /** The files that were loaded, and those of their functions that parse and were not called: by name, or by the file if they have none. */
    found: () => ({
      loaded: [...loaded],
      notCalled: [...new Set([...parsers.values()].flatMap(({ name, isCalled }) => (isCalled ? [] : [name])))],
    }),
  }
}
