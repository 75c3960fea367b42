import type { Rolldown } from 'vite'

/**
 * The chunk of a module of the user's page that a first visit loads: one for all of them, which is smaller than one for
 * each set of them that a later part shares. `null` for other modules, also for those that other pages use.
 */
export function firstVisitChunk(id: string, context: Rolldown.ChunkingContext): 'user' | null {
  return isLoadedFirst(id, context, new Set()) ? 'user' : null
}

/** Whether static imports lead from the start of the page to the module. */
function isLoadedFirst(id: string, context: Rolldown.ChunkingContext, seen: Set<string>): boolean {
  if (!/web.user./.test(id) || seen.has(id)) return false
  if (/web.user.start\.tsx$/.test(id)) return true
  seen.add(id)
  const importers = context.getModuleInfo(id)?.importers ?? []
  return importers.some((importer) => isLoadedFirst(importer, context, seen))
}
