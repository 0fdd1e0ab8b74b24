import { readTextIfExists, writeAtomic } from '../../util/files.ts'
import { parseJsonIfValid } from '../../util/json.ts'
import { check, type Static, type TSchema } from '../../util/schema.ts'

/**
 * Reads what a script has stored in a JSON file.
 * @returns undefined if the file does not exist or its content is not valid
 * @throws FileSizeError, or Error if it is not a regular file or cannot be read for another reason
 */
export async function readStateFile<S extends TSchema>(
  path: string,
  schema: S,
  maxBytes: number,
): Promise<Static<S> | undefined> {
  // The text of a file that does not exist is `undefined`, which is not JSON.
  const value = parseJsonIfValid(String(await readTextIfExists(path, maxBytes)))
  return check(schema, value) ? value : undefined
}

export const writeStateFile = (path: string, state: object, options: { readonly mode?: number } = {}): Promise<void> =>
  writeAtomic(path, `${JSON.stringify(state)}\n`, options)
