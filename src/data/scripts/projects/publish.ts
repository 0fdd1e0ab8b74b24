import { type Project, projectFormat } from '../../databases/projects.ts'
import type { Repository } from './github.ts'
import type { ListedProject } from './project-list.ts'

/** A project as it is published, with its keys in the order of the API. Links may be null as in the list. */
export type PublishedProject = Omit<Project, 'links'> & Pick<ListedProject, 'links'>

/** Identifies a project across runs: its repository, or its title if it has none. */
export const keyOf = ({ gh_api, title }: Pick<Project, 'gh_api' | 'title'>): string =>
  gh_api === '' ? `title ${title}` : `repository ${gh_api.toLowerCase()}`

/** Published if no version is known. */
const noVersion = '---'
const realVersion = (version: string | undefined): string | undefined =>
  version === '' || version === noVersion ? undefined : version

/** The version of the latest release, else that of the list, else the one published before. */
function versionOf(listed: ListedProject, repository: Repository | undefined, previous: Project | undefined): string {
  const [byHand, before] = [realVersion(listed.version), realVersion(previous?.version)]
  if (listed.gh_api === '') return byHand ?? noVersion
  // Without a reply from GitHub, the version published before is used: that of the list may be older than the last release.
  if (repository === undefined) return before ?? byHand ?? noVersion
  return repository.release ?? byHand ?? before ?? noVersion
}

/**
 * Merges the fields of the list with those from GitHub, or if GitHub was not read, with those published before.
 * @param repository undefined if GitHub was not requested, or the request failed
 */
export function publish(
  listed: ListedProject,
  repository: Repository | undefined,
  previous: Project | undefined,
): PublishedProject {
  const { title, description, status, statuscolor, categories, gh_api, backgroud, links, visible } = listed
  return {
    title,
    description,
    status,
    statuscolor,
    categories,
    languages: repository?.languages ?? previous?.languages ?? {},
    gh_api,
    version: versionOf(listed, repository, previous),
    backgroud,
    links,
    visible,
    last_update: repository?.lastUpdate ?? previous?.last_update ?? null,
  }
}

/** Whether the service would serve both in the same way. */
export const isSame = (before: Project, entry: PublishedProject): boolean =>
  JSON.stringify(before) === JSON.stringify(projectFormat.read(entry))

/** Sorted by last update, newest first, unknown last; equal ones in the order of the list. */
export const inOrder = (projects: readonly PublishedProject[]): readonly PublishedProject[] =>
  projects.toSorted((a, b) => (b.last_update ?? Number.NEGATIVE_INFINITY) - (a.last_update ?? Number.NEGATIVE_INFINITY) || 0)
