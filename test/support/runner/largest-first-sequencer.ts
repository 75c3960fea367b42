import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Starts the files of a project with the most test code first, so that no long file runs alone at the end. The suites
 * that a file calls count as its own.
 */
export class LargestFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sizes = new Map<string, number>()
    for (const { moduleId } of files) sizes.set(moduleId, await sizeWithImports(moduleId))
    const sizeOf = ({ moduleId }: TestSpecification): number => sizes.get(moduleId) ?? 0
    const byPath = files.toSorted((one, other) => (one.moduleId < other.moduleId ? -1 : 1))
    const bySize = byPath.toSorted((one, other) => sizeOf(other) - sizeOf(one))
    // A process takes files of one project only.
    return bySize.toSorted((one, other) => (one.project.name < other.project.name ? -1 : 0))
  }
}

const IMPORTED = /from '(\.[^']+)'/g

/** The bytes of a file and of all that it imports from `test`. */
async function sizeWithImports(path: string, seen = new Set<string>()): Promise<number> {
  if (seen.has(path)) return 0
  seen.add(path)
  const text = await readFile(path, 'utf8')
  let bytes = text.length
  for (const [, name = ''] of text.matchAll(IMPORTED)) {
    const imported = resolve(path, '..', name)
    if (imported.startsWith(TESTS)) bytes += await sizeWithImports(imported, seen)
  }
  return bytes
}

const TESTS = resolve('test')
