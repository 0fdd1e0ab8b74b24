// Starts the service as a user does, and reads status and page: for systems on which the tests do not run.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

const isWindows = process.platform === 'win32'
const environment = { ...process.env, PORT: '0' }
const npm = spawn('npm', ['start'], { env: environment, shell: isWindows, stdio: ['ignore', 'pipe', 'inherit'] })

/** The URL and the process of the service, from its log. */
const [url, pid] = await new Promise((resolve, reject) => {
  let output = ''
  npm.stdout.on('data', (data) => {
    output += data
    const [line] = /^\{.*listens on.*\}$/m.exec(output) ?? []
    if (line === undefined) return
    const { msg, pid } = JSON.parse(line)
    resolve([/http:\/\/127\.0\.0\.1:\d+/.exec(msg)[0], pid])
  })
  npm.once('exit', (code) => reject(new Error(`npm start ended with ${code}:\n${output}`)))
})

try {
  for (let status = 0; status !== 200; ) {
    status = (await fetch(`${url}/api/v1/getall`)).status
    // wait: between two requests.
    if (status !== 200) await new Promise((resolve) => setTimeout(resolve, 200))
  }
  const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text()
  const [asset] = /page\/assets\/[^"]+\.js/.exec(page)
  for (const path of [asset, 'metrics', 'api/v1/badge.svg', 'v1/kcomebacks/filter/getinfo']) {
    const { status } = await fetch(`${url}/${path}`)
    console.log(status, path)
    if (status !== 200) process.exitCode = 1
  }
} finally {
  process.kill(pid)
  await once(npm, 'exit')
}
