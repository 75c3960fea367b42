import { ABSENT, type Content } from '../crash/oracle.ts'
import { isName } from './target-reader.ts'

interface FolderOperation {
  readonly op: unknown
  readonly prefix?: unknown
  readonly new_prefix?: unknown
}

/**
 * What a batch does to the files that are known, if it succeeds. The names in the batches of valid requests are those
 * of no file, so only a prefix that was changed can reach one.
 */
export function effectOfBatch(
  body: Buffer,
  files: ReadonlyMap<string, readonly Content[]>,
): ReadonlyMap<string, readonly Content[]> {
  const left = new Map(files)
  for (const { op, prefix, new_prefix: to } of operationsIn(body)) {
    if (typeof prefix !== 'string') continue
    const matched = [...left].filter(
      ([name, contents]) => name.startsWith(prefix) && contents.some((each) => each !== ABSENT),
    )
    const isMove = op === 'rename' && typeof to === 'string'
    if (op !== 'delete' && !isMove) continue
    for (const [name] of matched) left.set(name, [ABSENT])
    if (!isMove) continue
    // At once: what has moved is in the way of nothing.
    for (const [name, contents] of matched) {
      const moved = `${to}${name.slice(prefix.length)}`
      if (isName(moved)) left.set(moved, contents)
    }
  }
  return new Map([...left].filter(([name, contents]) => files.get(name) !== contents))
}

function operationsIn(body: Buffer): readonly FolderOperation[] {
  try {
    const { operations } = JSON.parse(body.toString()) as { operations?: unknown }
    const all: readonly unknown[] = Array.isArray(operations) ? operations : []
    return all.filter((each): each is FolderOperation => each instanceof Object)
  } catch {
    return []
  }
}
