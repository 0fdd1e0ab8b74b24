/** Works until the process has used so much CPU time that a reading counts as slow, as a parser of a hostile reply does. */
export function burnCpu(milliseconds = 130): void {
  const [begun, cpu] = [performance.now(), process.cpuUsage()]
  for (let used = 0; used < milliseconds || performance.now() - begun < milliseconds; ) {
    const { user, system } = process.cpuUsage(cpu)
    used = (user + system) / 1_000
  }
}
