import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { allOf } from '../documents/pages.ts'

const SERVICES = ['proxy', 'prometheus', 'grafana']

describe('a service in docker-compose.yml that reads files of this repository', () => {
  it('has the digest of these files as a label, so that Compose recreates it when they change', async () => {
    const compose = await readFile('docker-compose.yml', 'utf8')
    const labels = allOf(/repository\.files: '(\w+)'/g, compose)
    const digests = await Promise.all(SERVICES.map((name) => digestOf(mountsOf(name, compose))))
    expect(labels).toEqual(digests)
  })

  it('is one of these', async () => {
    const compose = await readFile('docker-compose.yml', 'utf8')
    const mounts = SERVICES.flatMap((name) => mountsOf(name, compose))
    expect(mounts).toEqual(allOf(MOUNT, compose))
    expect(mounts.length).toBeGreaterThanOrEqual(5)
  })
})

const MOUNT = /['\s]\.\/(deploy\/[^:]+):/g

/** The files and folders that are mounted into a service. */
function mountsOf(service: string, compose: string): string[] {
  const [, block = ''] = new RegExp(`\n  ${service}:\n((?: {4}.*\n)+)`).exec(compose) ?? []
  return allOf(MOUNT, block)
}

async function digestOf(paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const path of paths) {
    for (const file of await filesIn(path)) hash.update(file).update(await readFile(file))
  }
  return hash.digest('hex').slice(0, 16)
}

async function filesIn(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path]
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => join(parentPath, name)).toSorted()
}
