import { basename, join } from 'node:path'
import { readTextIfExists } from '../../../util/files.ts'
import { projectsDatabase } from '../../databases/projects.ts'
import type { Outcome, RunContext, RunResult } from '../script.ts'
import { isTransient, UpstreamError } from '../upstream-error.ts'
import { readPublished, snapshotPath, writeSnapshot } from '../write-snapshot.ts'
import { createGithub, type GithubOptions, type Repository, repositoryPath } from './github.ts'
import { type ListedProject, projectListPath, readProjectList } from './project-list.ts'
import { inOrder, isSame, keyOf, type PublishedProject, publish } from './publish.ts'
import { readReplies, writeReplies } from './reply-cache.ts'

/** After this many consecutive unreachable repositories, GitHub is treated as down and the rest is skipped. */
const maxConsecutiveFailures = 2

const maxListBytes = 16 * 1024 * 1024

/** The list, or the result of the run if it cannot be used. */
async function readList({ values, dataDir, log }: RunContext): Promise<readonly ListedProject[] | RunResult> {
  const file = projectListPath(values, dataDir)
  const name = basename(file)
  const text = await readTextIfExists(file, maxListBytes)
  if (text === undefined) {
    const isDefault = values.projectsConfig === undefined
    const what = isDefault ? `${name} does not exist in DATA_DIR` : `${name}, the file in PROJECTS_CONFIG, does not exist`
    const help = `${what}: create it, or set PROJECTS_CONFIG to the path of your list of projects`
    return { outcome: 'not_configured', errors: [help] }
  }
  const { projects, problems } = readProjectList(text, name)
  for (const problem of problems) log.warn(`projects: ${problem}`)
  return problems.length > 0 ? { outcome: 'failed', errors: problems } : projects
}

/** @param options as those of {@link createGithub}, for tests */
export async function runProjects(context: RunContext, options: GithubOptions = {}): Promise<RunResult> {
  const { values, dataDir, signal, log, clock, progress, counts, dryRun, force } = context
  const listed = await readList(context)
  if ('outcome' in listed) return listed
  const cacheFile = join(dataDir, 'projects.cache.json')
  const cache = await readReplies(cacheFile, values.githubApiUrl)
  const github = createGithub(context, cache, options)
  const path = snapshotPath(projectsDatabase, values, dataDir)
  const before = await readPublished(path, projectsDatabase, log)
  const previous = new Map(before?.entries.map((entry) => [keyOf(entry), entry]))
  const errors: string[] = []
  const notes: string[] = []
  const report = (text: string, list = errors) => {
    list.push(text)
    log.warn(`projects: ${text}`)
  }
  const skipped: string[] = []
  let limited: UpstreamError | undefined
  let unreachableInARow = 0

  /** @returns undefined if it cannot be read */
  async function read(repository: string): Promise<Repository | undefined> {
    if (limited !== undefined || unreachableInARow >= maxConsecutiveFailures) {
      skipped.push(repository)
      return undefined
    }
    try {
      const found = await github.repository(repository)
      unreachableInARow = 0
      for (const note of found.notes) report(`${repository}: ${note}`, notes)
      return found
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof UpstreamError)) throw error
      if (error.kind === 'rate_limited') limited = error
      unreachableInARow = isTransient(error) ? unreachableInARow + 1 : 0
      report(`${repository}: ${error.message}; its previous values are kept`)
      return undefined
    }
  }

  const published: PublishedProject[] = []
  progress.total(listed.length)
  for (const project of listed) {
    const { gh_api: repository } = project
    const old = previous.get(keyOf(project))
    const current = repository === '' ? undefined : await read(repository)
    const entry = publish(project, current, old)
    published.push(entry)
    counts.read++
    if (repository !== '' && current === undefined) counts.rejected++
    else if (old === undefined) counts.added++
    else if (isSame(old, entry)) counts.unchanged++
    else counts.changed++
    progress.step(repository || project.title)
  }
  if (skipped.length > 0) {
    const cause = limited === undefined ? 'GitHub is unreachable' : 'of the rate limit'
    report(`not read because ${cause}, their previous values are kept: ${skipped.join(', ')}`)
  }

  const result = (outcome: Outcome): RunResult => ({
    outcome,
    errors: [...errors, ...notes],
    ...(outcome === 'rate_limited' && limited?.retryAt !== undefined && { retryAt: limited.retryAt }),
  })
  const repositories = listed.flatMap(({ gh_api }) => (gh_api === '' ? [] : [repositoryPath(gh_api)]))
  if (repositories.length > 0 && counts.rejected === repositories.length) {
    // Nothing was read: a new snapshot would only make old data seem fresh.
    return result(limited === undefined ? 'failed' : 'rate_limited')
  }
  const entries = inOrder(published)
  const order = { database: projectsDatabase, path, entries, wall: clock.wall(), force: force !== false }
  const written = await writeSnapshot({ ...context, ...order })
  if (!written.written) {
    errors.unshift(written.reason)
    return result('failed')
  }
  if (!dryRun) {
    const isListed = (cached: string) => repositories.some((base) => cached === base || cached.startsWith(`${base}/`))
    await writeReplies(cacheFile, values.githubApiUrl, new Map([...cache].filter(([cached]) => isListed(cached))))
  }
  if (limited !== undefined) return result('rate_limited')
  return result(errors.length > 0 ? 'partly' : 'done')
}
