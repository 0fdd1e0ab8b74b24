const reasons: Readonly<Record<string, string>> = {
  SQLITE_NOTADB: 'it is not an SQLite database',
  SQLITE_CORRUPT: 'it is damaged',
  SQLITE_BUSY: 'another program has locked it',
  SQLITE_FULL: 'the disk is full',
  SQLITE_READONLY: 'it is read-only',
}

/** What went wrong with the database, in words. */
export function reasonOf(error: unknown): string {
  const { code = '', message } = error as { readonly code?: string; readonly message: string }
  return reasons[code] ?? message
}

/** Whether the file may soon be usable: another program has locked it, or the disk is full. */
export const isPassing = (error: unknown): boolean =>
  ['SQLITE_BUSY', 'SQLITE_FULL'].includes((error as { readonly code?: string }).code ?? '')
