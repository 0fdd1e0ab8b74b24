import type Database from 'libsql'

/** The values of a row. */
export type Row = readonly (number | string | null)[]

/** The statements of a database; each is prepared when it is first used, and kept. */
export class Connection {
  readonly #db: Database.Database
  /** Milliseconds for which a call waits while another program has locked the file. */
  readonly #busyMs: number
  #isLocked = false
  readonly #statements = new Map<string, Database.Statement>()

  constructor(db: Database.Database) {
    this.#db = db
    // No server is ever deleted, and SQLite would look it up for each row, and list all rows in memory before it deletes some.
    db.exec('PRAGMA foreign_keys = OFF')
    this.#busyMs = Number(this.first('PRAGMA busy_timeout')?.[0])
  }

  all(sql: string, ...values: Row): readonly Row[] {
    return this.#prepared(sql).raw().all(values) as Row[]
  }

  /** The first row. In libsql it takes less memory than all rows, which is only freed between two turns of the event loop. */
  first(sql: string, ...values: Row): Row | undefined {
    return this.#prepared(sql).raw().get(values) as Row | undefined
  }

  run(sql: string, ...values: Row): void {
    this.#prepared(sql).run(values)
  }

  /**
   * Deletes the rows of a table before a time, Unix milliseconds, but at most so many milliseconds from its oldest row on. With a subquery
   * in place of that row's time, SQLite would list the rows in memory first: 50 MB, and seconds, for 10,000 servers.
   */
  deleteOldest(table: string, before: number, maxMs: number): void {
    const [oldest] = this.first(`SELECT min(time) FROM ${table}`) ?? []
    this.run(`DELETE FROM ${table} WHERE time < ?`, Math.min(before, Number(oldest) + maxMs))
  }

  /** Runs an action of which all is stored, or nothing if it throws. One within another is part of it. */
  transaction<T>(action: () => T): T {
    // libsql aborts the process if it is asked for a transaction of a closed database.
    if (!this.#db.open) throw new Error('it is closed')
    if (this.#db.inTransaction) return action()
    this.#begin()
    try {
      const result = action()
      this.#db.exec('COMMIT')
      return result
    } catch (error) {
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK')
      throw error
    }
  }

  close(): void {
    this.#statements.clear()
    this.#db.close()
  }

  /**
   * After a call that has waited for another program in vain, no call waits until one has succeeded: otherwise many calls, the replies that
   * need them, and the end of the process would all be late.
   */
  #begin(): void {
    try {
      this.#db.exec('BEGIN IMMEDIATE')
    } catch (error) {
      this.#isLocked = true
      this.#db.exec('PRAGMA busy_timeout = 0')
      throw error
    }
    if (this.#isLocked) this.#db.exec(`PRAGMA busy_timeout = ${this.#busyMs}`)
    this.#isLocked = false
  }

  #prepared(sql: string): Database.Statement {
    const found = this.#statements.get(sql) ?? this.#db.prepare(sql)
    this.#statements.set(sql, found)
    return found
  }
}
