import { execFile } from 'node:child_process'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build, type Rolldown } from 'vite'
import { temporaryFolder } from '../../support/service/program.ts'

const execute = promisify(execFile)

/** A project that has nothing but the package, as npm publishes it. */
export interface EmptyProject {
  readonly folder: string
  /** Writes a file into the folder, and resolves to its path. */
  write(name: string, content: string | Uint8Array): Promise<string>
  /** The chunks of a program, minified, the entry first. */
  bundle(program: string): Promise<readonly Rolldown.OutputChunk[]>
}

/** Packs the package, and installs it without a registry, since it depends on nothing. */
export async function installPackage(opened: AsyncDisposableStack): Promise<EmptyProject> {
  const folder = await temporaryFolder(opened)
  const npm = (args: readonly string[], cwd: string) => execute('npm', args, { cwd })
  const { stdout } = await npm(['pack', '--silent', '--pack-destination', folder], 'packages/js')
  await rename(join(folder, stdout.trim()), join(folder, 'package.tgz'))
  const write = async (name: string, content: string | Uint8Array): Promise<string> => {
    const path = join(folder, name)
    await writeFile(path, content)
    return path
  }
  await write('package.json', '{ "type": "module", "private": true }')
  await npm(['install', '--offline', '--no-audit', '--no-fund', './package.tgz'], folder)
  return { folder, write, bundle }

  async function bundle(program: string): Promise<readonly Rolldown.OutputChunk[]> {
    const entry = await write('entry.ts', program)
    const built = await build({
      root: folder,
      configFile: false,
      logLevel: 'silent',
      build: {
        write: false,
        minify: true,
        target: ['chrome123', 'firefox124', 'safari17.5'],
        modulePreload: false,
        rolldownOptions: {
          input: entry,
          preserveEntrySignatures: 'strict',
          output: { entryFileNames: 'entry.js', chunkFileNames: '[name].js' },
        },
      },
    })
    const { output } = (Array.isArray(built) ? built[0] : built) as Rolldown.RolldownOutput
    const chunks = output.filter((chunk) => chunk.type === 'chunk')
    return chunks.toSorted((a, b) => Number(b.isEntry) - Number(a.isEntry))
  }
}

/** Without the folders of installed packages, which come first in a run of npm. */
export function machinePath(): string {
  const folders = (process.env['PATH'] ?? '').split(':')
  return folders.filter((folder) => !folder.includes('node_modules')).join(':')
}

/** The oldest Node that is supported, on most machines, and the newest. */
export const NODES = [
  { title: "the machine's Node", node: '/usr/bin/env', words: ['node'] },
  { title: 'Node 24', node: process.execPath, words: [] },
] as const
