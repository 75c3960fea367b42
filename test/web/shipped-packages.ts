import { readFile } from 'node:fs/promises'

/** `name@version` of what is installed without development dependencies, by package-lock.json, each once. */
export async function shippedPackages(): Promise<readonly string[]> {
  const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8')) as Lockfile
  const ids = Object.entries(packages).flatMap(([path, { version, dev, link }]) => {
    const [, name] = /.*node_modules\/(.+)$/.exec(path) ?? []
    // A link is to the workspace, which is no part of the image.
    return name === undefined || dev === true || link === true ? [] : [`${name}@${version}`]
  })
  return [...new Set(ids)]
}

interface Lockfile {
  readonly packages: Readonly<
    Record<string, { readonly version?: string; readonly dev?: boolean; readonly link?: boolean }>
  >
}
