// Checks that the tag, the version, the changelog and the maintainer's name belong together, and prints the version and the name of the
// image, which has no capitals, for later steps; with `notes` it prints the changes of the version.
import { readFileSync } from 'node:fs'

const { TAG = '', REPOSITORY = '' } = process.env
const { version, repository } = JSON.parse(readFileSync('package.json', 'utf8'))
const chart = readFileSync('charts/tickwarden/Chart.yaml', 'utf8')
const sections = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m)
const notes = sections.find((section) => section.startsWith(version) || section.startsWith(`[${version}]`))

const problems = [
  TAG === `v${version}` ? '' : `the tag is ${TAG}, but package.json has the version ${version}`,
  chart.includes(`\nappVersion: ${version}\n`) ? '' : `Chart.yaml has another appVersion than ${version}: npm run docs`,
  repository.url === `git+https://github.com/${REPOSITORY}.git`
    ? ''
    : `package.json has the repository ${repository.url}, but this is ${REPOSITORY}: set it, then npm run docs`,
  /^\d+\.\d+\.\d+$/.test(version) ? '' : `${version} is not a version such as 1.2.3: releases of other kinds are not published`,
  (notes?.replace(/^.*\n*/, '').trim() ?? '') === '' ? `CHANGELOG.md has no section ${version}, or an empty one` : '',
].filter((problem) => problem !== '')
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
else
  console.log(
    process.argv[2] === 'notes' ? notes.replace(/^.*\n+/, '').trimEnd() : `version=${version}\nimage=${REPOSITORY.toLowerCase()}`,
  )
