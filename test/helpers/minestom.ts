import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isInstalled, isSupported } from './require-tool.ts'
import { freePort } from './run-tool.ts'

const version = '2026.08.28-26.2'
const minJava = 25
const folder = join(import.meta.dirname, '..', 'peers', 'minestom')
const jars = join(folder, version)
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

/** Fetches Minestom with Maven when it is first needed. */
function ensureJars(): void {
  if (existsSync(jars)) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'pom.xml'), pom)
  console.error(`fetching Minestom ${version} ...`)
  const { status, stdout, stderr } = spawnSync(
    'mvn',
    ['--quiet', '--batch-mode', 'dependency:copy-dependencies', `-DoutputDirectory=${jars}`],
    { cwd: folder, encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`mvn could not fetch Minestom: ${stdout}${stderr}`)
}

/** A Minestom server with its default settings. */
export async function startMinestom(): Promise<AsyncDisposable & { readonly port: number }> {
  ensureJars()
  const port = await freePort()
  const source = join(import.meta.dirname, 'java', 'MinestomServer.java')
  const child = spawn(java ?? 'java', ['-Xmx256m', '-XX:TieredStopAtLevel=1', '-cp', join(jars, '*'), source, String(port)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
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
