import { readFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { SettingValues } from '../../../config/settings.ts'
import { noCounts, type Outcome, type RunContext, type RunResult, type Script } from '../script.ts'
import { snapshotPath, writeSnapshot } from '../write-snapshot.ts'
import { createGithub, GithubError, type Repository } from './github.ts'
import { type ListedProject, ProjectListError, readProjectList } from './project-list.ts'
import { openReplyCache } from './reply-cache.ts'

/** A project as it is published; the keys in the order of the API document. */
interface PublishedProject {
  readonly title: string
  readonly description: string
  readonly status: string
  readonly statuscolor: string
  readonly categories: readonly string[]
  readonly languages: Readonly<Record<string, number>>
  readonly gh_api: string
  readonly version: string
  readonly backgroud: string
  readonly links: Readonly<Record<string, string | null>>
  readonly visible: boolean
  readonly last_update: number | null
}

type Previous = Partial<Pick<PublishedProject, 'languages' | 'version' | 'last_update'>>

/** By repository, or by title where there is none. */
const keyOf = ({ gh_api, title }: Partial<Pick<PublishedProject, 'gh_api' | 'title'>>): string =>
  gh_api ? `repository ${gh_api.toLowerCase()}` : `title ${title}`

async function readPrevious(path: string): Promise<ReadonlyMap<string, Previous>> {
  try {
    const parsed: unknown = JSON.parse(await readFile(path, 'utf8'))
    const entries = Array.isArray(parsed) ? parsed.slice(1) : []
    return new Map(entries.filter((entry) => typeof entry === 'object' && entry !== null).map((entry) => [keyOf(entry), entry]))
  } catch {
    // Missing or broken: there is nothing to fall back to, and nothing to compare with.
    return new Map()
  }
}

/** What is hand-kept stays; of the rest what GitHub tells, else what was published before. */
function publish(listed: ListedProject, told: Repository | undefined, previous: Previous | undefined): PublishedProject {
  const { title, description, status, statuscolor, categories, gh_api, backgroud, links, visible } = listed
  // Without an answer the version published before stands: the list's own may be older than the last release.
  const version = told === undefined ? (previous?.version ?? listed.version) : (told.release ?? listed.version)
  return {
    title,
    description,
    status,
    statuscolor,
    categories,
    languages: told?.languages ?? previous?.languages ?? {},
    gh_api,
    version: gh_api === '' ? listed.version : version,
    backgroud,
    links,
    visible,
    last_update: told?.lastUpdate ?? previous?.last_update ?? null,
  }
}

const listFile = (values: SettingValues, dataDir: string): string =>
  values.projectsConfig === undefined ? join(dataDir, 'projects.config.json') : resolve(values.projectsConfig)

const failed = (outcome: Outcome, errors: readonly string[]): RunResult => ({
  outcome,
  counts: noCounts,
  errors,
})

/** @param options.second milliseconds that stand for one second of Octokit's pauses */
export const createProjectsScript = (options: { readonly second?: number; readonly timeout?: number } = {}): Script => ({
  name: 'projects',
  parts: 'repositories',
  missingSettings: () => [],

  async run({ values, dataDir, signal, log, clock, progress, counts, full, dryRun, force }: RunContext): Promise<RunResult> {
    const file = listFile(values, dataDir)
    let listed: readonly ListedProject[]
    try {
      listed = readProjectList(await readFile(file, 'utf8'), basename(file))
    } catch (error) {
      if (error instanceof ProjectListError) {
        for (const problem of error.problems) log.warn(`projects: ${problem}`)
        return failed('failed', error.problems)
      }
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      return failed('not_configured', [
        `there is no ${basename(file)}: list your projects there, or set PROJECTS_CONFIG to the file that does`,
      ])
    }

    const path = snapshotPath('projects', values, dataDir)
    const previous = await readPrevious(path)
    const baseUrl = values.githubApiUrl ?? ''
    const cache = await openReplyCache(join(dataDir, 'projects.cache.json'), baseUrl, full)
    const github = createGithub({ baseUrl, token: values.githubToken, cache, signal, clock, log, ...options })
    const errors: string[] = []
    const published: PublishedProject[] = []
    let limited: GithubError | undefined
    progress.total(listed.length)
    for (const project of listed) {
      const before = previous.get(keyOf(project))
      let told: Repository | undefined
      if (project.gh_api !== '' && limited === undefined) {
        try {
          told = await github.repository(project.gh_api)
        } catch (error) {
          signal.throwIfAborted()
          if (!(error instanceof GithubError)) throw error
          if (error.kind === 'rate_limited') limited = error
          errors.push(`${project.gh_api}: ${error.message}; its old values are kept`)
          log.warn({ repository: project.gh_api }, `projects: ${errors.at(-1)}`)
        }
      }
      const entry = publish(project, told, before)
      published.push(entry)
      counts.read++
      if (project.gh_api !== '' && told === undefined) counts.rejected++
      else if (before === undefined) counts.added++
      else if (JSON.stringify(before) === JSON.stringify(entry)) counts.unchanged++
      else counts.changed++
      progress.step(project.gh_api || project.title)
    }

    // Newest first, unknown last; equal ones stay in the order of the list.
    const entries = published.toSorted(
      (a, b) => (b.last_update ?? Number.NEGATIVE_INFINITY) - (a.last_update ?? Number.NEGATIVE_INFINITY) || 0,
    )
    const result = (outcome: Outcome): RunResult => ({ outcome, counts, errors })
    const repositories = listed.filter(({ gh_api }) => gh_api !== '').length
    if (repositories > 0 && counts.rejected === repositories) {
      // Nothing was learned: writing would only make old data look fresh.
      return limited === undefined
        ? result('failed')
        : { ...result('rate_limited'), ...(limited.retryAt !== undefined && { retryAt: limited.retryAt }) }
    }
    const written = await writeSnapshot({ database: 'projects', path, entries, wall: clock.wall(), force, dryRun, log })
    if (!written.written) return { outcome: 'failed', counts, errors: [written.reason, ...errors] }
    if (!dryRun) await cache.save()
    if (limited !== undefined)
      return { ...result('rate_limited'), ...(limited.retryAt !== undefined && { retryAt: limited.retryAt }) }
    return result(errors.length > 0 ? 'partly' : 'done')
  },
})
