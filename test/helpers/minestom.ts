import { execFile, spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { cachedFolder } from '../tools/user-cache.mjs'
import { isInstalled, isSupported } from './require-tool.ts'
import { freePort } from './run-tool.ts'

const version = '2026.08.28-26.2'
const minJava = 25
const source = join(import.meta.dirname, 'java', 'MinestomServer.java')
const run = promisify(execFile)
/** The folders used by packages of Debian and Adoptium. */
const jvms = '/usr/lib/jvm'

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>tickwarden</groupId><artifactId>minestom-peer</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>net.minestom</groupId><artifactId>minestom</artifactId><version>${version}</version>
  </dependency></dependencies>
</project>
`

/** A `java` that is new enough for Minestom; that on the PATH is often an older one. */
function findJava(): string | undefined {
  const installed = existsSync(jvms) ? readdirSync(jvms).map((name) => join(jvms, name)) : []
  const homes = [...(process.env.JAVA_HOME ? [process.env.JAVA_HOME] : []), ...installed]
  return ['java', ...homes.map((home) => join(home, 'bin/java'))].find((java) => {
    const { stderr, status } = spawnSync(java, ['-version'], { encoding: 'utf8' })
    return status === 0 && Number(/version "(\d+)/.exec(stderr)?.[1]) >= minJava
  })
}

const java = findJava()

/** Whether Minestom can run on this machine. */
export const canRunMinestom = (): boolean =>
  isSupported(java !== undefined && isInstalled('mvn'), `Minestom needs Java ${minJava} and Maven`)

/** The folder of Minestom, which Maven fetches, and of the compiled server. */
const ensureClasses = (): Promise<string> =>
  cachedFolder('minestom', pom + readFileSync(source, 'utf8'), async (folder) => {
    console.error(`fetching Minestom ${version} ...`)
    writeFileSync(join(folder, 'pom.xml'), pom)
    const options = ['--quiet', '--batch-mode', 'dependency:copy-dependencies', `-DoutputDirectory=${folder}`]
    await run('mvn', options, { cwd: folder })
    await run(`${java}c`, ['--release', String(minJava), '-cp', join(folder, '*'), '-d', folder, source])
  })

/** A Minestom server with its default settings. */
export async function startMinestom(): Promise<AsyncDisposable & { readonly port: number }> {
  const folder = await ensureClasses()
  const port = await freePort()
  const child = spawn(
    java ?? 'java',
    ['-Xmx256m', '-XX:TieredStopAtLevel=1', '-cp', [folder, join(folder, '*')].join(delimiter), 'MinestomServer', String(port)],
    {
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  )
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let output = ''
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk
        if (/^ready$/m.test(output)) resolve()
      })
    }
    child.once('close', () => reject(new Error(`Minestom ended:\n${output}`)))
  })
  return {
    port,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await closed
    },
  }
}
