import { type Project, projectFormat } from '../../project-format.ts'
import type { Repository } from './github.ts'
import type { ListedProject } from './project-list.ts'

/** A project as it is published: the keys in the order of the API document. Links that are null in the list stay so. */
export type PublishedProject = Omit<Project, 'links'> & Pick<ListedProject, 'links'>

/** What a project is known by from one run to the next: its repository, or its title where there is none. */
export const keyOf = ({ gh_api, title }: Pick<Project, 'gh_api' | 'title'>): string =>
  gh_api === '' ? `title ${title}` : `repository ${gh_api.toLowerCase()}`

/** Stands where no version is known. */
const noVersion = '---'
const known = (version: string | undefined): string | undefined => (version === '' || version === noVersion ? undefined : version)

/** A release is the version. Without one it is the one kept by hand, else the one published before. */
function versionOf(listed: ListedProject, told: Repository | undefined, previous: Project | undefined): string {
  const [byHand, before] = [known(listed.version), known(previous?.version)]
  if (listed.gh_api === '') return byHand ?? noVersion
  // Without an answer the version published before stands: the list's own may be older than the last release.
  if (told === undefined) return before ?? byHand ?? noVersion
  return told.release ?? byHand ?? before ?? noVersion
}

/**
 * What is hand-kept stays; of the rest what GitHub tells, else what was published before.
 * @param told undefined where GitHub was not asked, or gave no answer
 */
export function publish(listed: ListedProject, told: Repository | undefined, previous: Project | undefined): PublishedProject {
  const { title, description, status, statuscolor, categories, gh_api, backgroud, links, visible } = listed
  return {
    title,
    description,
    status,
    statuscolor,
    categories,
    languages: told?.languages ?? previous?.languages ?? {},
    gh_api,
    version: versionOf(listed, told, previous),
    backgroud,
    links,
    visible,
    last_update: told?.lastUpdate ?? previous?.last_update ?? null,
  }
}

/** True where the service would serve the one as it serves the other. */
export const isSame = (before: Project, entry: PublishedProject): boolean =>
  JSON.stringify(before) === JSON.stringify(projectFormat.read(entry))

/** Newest first, unknown last; equal ones stay in the order of the list. */
export const inOrder = (projects: readonly PublishedProject[]): readonly PublishedProject[] =>
  projects.toSorted((a, b) => (b.last_update ?? Number.NEGATIVE_INFINITY) - (a.last_update ?? Number.NEGATIVE_INFINITY) || 0)
