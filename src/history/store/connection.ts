import type Database from 'libsql'

/** The values of a row. */
export type Row = readonly (number | string | null)[]

/** Divides the servers that are written at once. */
const rowsAtOnce = 50

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
   * Many rows in one statement take half as long as one of each (`npm run bench -- history`).
   * @param sqlOf the statement, from the placeholders of its rows
   * @returns a function that runs it for values, one row of `width` values after the other
   */
  forRows(width: number, sqlOf: (rows: string) => string): (values: Row) => void {
    const rows = Array.from({ length: rowsAtOnce }, () => `(${Array.from({ length: width }, () => '?').join(', ')})`)
    const [one, many] = [sqlOf(rows[0] ?? ''), sqlOf(rows.join(', '))]
    return (values) => {
      for (let at = 0; at < values.length; ) {
        const isMany = values.length - at >= rowsAtOnce * width
        const end = at + (isMany ? rowsAtOnce : 1) * width
        this.#prepared(isMany ? many : one).run(values.slice(at, end))
        at = end
      }
    }
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
