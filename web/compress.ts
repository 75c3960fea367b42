import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

const brotli = promisify(brotliCompress)
const deflate = promisify(gzip)

/** Puts beside every file that was built its forms `.br` and `.gz`, as small as they get, for the service to send. */
export function compressed(): Plugin {
  let folder = ''
  return {
    name: 'compressed',
    apply: 'build',
    configResolved(config) {
      folder = config.build.outDir
    },
    async closeBundle() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true })
      const files = entries.filter((entry) => entry.isFile())
      await Promise.all(files.map(({ parentPath, name }) => compress(join(parentPath, name))))
    },
  }
}

async function compress(path: string): Promise<void> {
  const content = await readFile(path)
  const quality = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
  await writeFile(`${path}.br`, await brotli(content, { params: quality }))
  await writeFile(`${path}.gz`, await deflate(content, { level: constants.Z_BEST_COMPRESSION }))
}
