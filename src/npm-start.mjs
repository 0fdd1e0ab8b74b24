// Run by `npm start`. npm sends a signal to its shell only, which ends without passing it on: that is noticed here. `exec` would pass it on,
// but the shell of Windows has none.
const shell = process.ppid
setInterval(() => {
  if (process.ppid !== shell) process.kill(process.pid, 'SIGTERM')
}, 200).unref()

await import('../dist/src/main.js')
