import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

const brotli = promisify(brotliCompress)
const deflate = promisify(gzip)

/** Writes a maximally compressed `.br` and `.gz` beside every file of the build, for the service to send. */
export function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    // Not in `closeBundle`, which also runs for builds that write nothing and would find another build's files.
    async writeBundle({ dir = '' }, bundle) {
      await Promise.all(Object.keys(bundle).map((name) => compress(join(dir, name))))
    },
  }
}

async function compress(path: string): Promise<void> {
  const content = await readFile(path)
  const quality = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
  await writeFile(`${path}.br`, await brotli(content, { params: quality }))
  await writeFile(`${path}.gz`, await deflate(content, { level: constants.Z_BEST_COMPRESSION }))
}
