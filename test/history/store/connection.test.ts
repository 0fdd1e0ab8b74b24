import { join } from 'node:path'
import Database from 'libsql'
import { expect, it, onTestFinished } from 'vitest'
import { Connection } from '../../../src/history/store/connection.ts'
import { openDatabase } from '../../../src/history/store/database.ts'
import { temporaryFolder } from '../../helpers/discovering-service.ts'

it('waits for a lock once, and then not until it has been released', () => {
  const path = join(temporaryFolder(), 'history.db')
  const connection = new Connection(openDatabase({ path, busyMs: 50 }))
  onTestFinished(() => connection.close())
  const timeout = () => connection.first('PRAGMA busy_timeout')?.[0]
  const write = () => connection.transaction(() => connection.run('INSERT INTO servers (name) VALUES (?)', 'a'))
  const other = new Database(path)
  other.exec('BEGIN IMMEDIATE')
  expect(timeout()).toBe(50)
  for (let attempt = 0; attempt < 2; attempt++) {
    expect(write).toThrow('locked')
    expect(timeout()).toBe(0)
  }
  other.exec('COMMIT')
  other.close()
  write()
  expect(timeout()).toBe(50)
  expect(connection.all('SELECT name FROM servers')).toEqual([['a']])
})
