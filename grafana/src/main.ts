import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { generated } from './generate.ts'

const [command, prometheus = 'http://127.0.0.1:9090'] = process.argv.slice(2)

if (command === undefined) {
  for (const [file, text] of Object.entries(generated())) {
    const path = join(import.meta.dirname, '..', '..', file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    console.log(file)
  }
} else if (command === 'preview') {
  const { createPreviewServer } = await import('./preview/server.ts')
  const port = 3001
  createPreviewServer(prometheus)
    .listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port} shows the dashboards with the data of ${prometheus}`))
    .on('error', (error) => {
      console.error(`The preview cannot listen on port ${port}: ${error.message}`)
      process.exitCode = 1
    })
} else {
  console.error('Usage: npm run dashboards [-- preview [URL of Prometheus]]')
  process.exitCode = 2
}
