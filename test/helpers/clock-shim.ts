/**
 * For `node --import`: a process whose clock is wrong by `offsetMs`, and is set by `stepMs` at a SIGWINCH and back at the next one. Its
 * monotonic clock goes on; what other processes see, such as the times of files that it does not set itself, is right.
 */
export const clockShim = (offsetMs: number, stepMs: number): string =>
  `data:text/javascript,${encodeURIComponent(`
  const System = Date
  let [offset, step] = [${offsetMs}, ${stepMs}]
  globalThis.Date = class extends System {
    constructor(...given) { super(...(given.length === 0 ? [System.now() + offset] : given)) }
    static now() { return System.now() + offset }
  }
  Object.defineProperty(performance, 'timeOrigin', { value: performance.timeOrigin + offset })
  process.on('SIGWINCH', () => {
    offset += step
    step = -step
  })`)}`
