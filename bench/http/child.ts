/** Tells the parent where this server listens and, whenever it asks, the CPU microseconds it has used; ends with it. */
export function report(address: string): void {
  process.on('message', (message) => {
    if (message !== 'cpu') return
    const { user, system } = process.cpuUsage()
    process.send?.(user + system)
  })
  process.on('disconnect', () => process.exit())
  process.send?.(address)
}
