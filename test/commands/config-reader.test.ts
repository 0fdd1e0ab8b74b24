import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createConfigReader } from '../../src/commands/config-reader.ts'
import { loadConfig } from '../../src/config/config.ts'
import { Tokens } from '../../src/config/tokens.ts'
import { silentLog } from '../../src/util/log.ts'

it('keeps the servers when the file has only databases, unless it says that these are all', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'config-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'tickwarden.yaml')
  const databases = 'databases: [{ name: books, file: books.json, fields: { title: { kind: text } } }]\n'
  const load = () => loadConfig({ env: {}, file })
  await writeFile(file, `${databases}servers: [{ name: lobby, address: 127.0.0.1 }]\n`)
  const config = load()
  const read = createConfigReader(config, load, silentLog, new Tokens(config))
  expect(read().map(({ name }) => name)).toEqual(['lobby'])
  await writeFile(file, databases)
  expect(load().servers).toEqual([])
  expect(read).toThrow('tickwarden.yaml: lists no servers')
  await writeFile(file, `${databases}data: { only: true }\n`)
  expect(read()).toEqual([])
})
