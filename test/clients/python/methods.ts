import { readFile } from 'node:fs/promises'
import { createAdminClient } from '../../../packages/js/src/admin.ts'
import { createClient } from '../../../packages/js/src/client.ts'

const url = 'http://127.0.0.1:1'

/** The methods of the clients of TypeScript, such as `files.upload`, and `user(id).tokens.list` of operators. */
export function methodsInTypeScript(): string[] {
  const admin = createAdminClient({ url, token: 'a' })
  const own = [createClient({ url }), admin].flatMap((client) => methodsOf(client))
  const ofUser = methodsOf(admin.user('id'), 'user(id).')
  return [...own.filter((name) => name !== 'user'), ...ofUser]
}

/** Prints the same for Python, as JSON. */
export const METHODS_IN_PYTHON = `
import json
from cloud_repository import AdminClient, Client

def methods(of, path=""):
    found = []
    names = [name for name in {*dir(type(of)), *vars(of)} if not name.startswith("_") and name != "close"]
    for name in names:
        if path == "" and name == "user":
            found += methods(of.user("id"), "user(id).")
        elif name in vars(of):
            found += methods(getattr(of, name), f"{path}{name}.")
        else:
            found.append(path + name)
    return found

with Client("${url}") as client, AdminClient("${url}", "a") as admin:
    print(json.dumps(methods(client) + methods(admin)))
`

/** The methods in the first cells of the tables of a README. A word without a path has that of the one before it. */
export async function methodsInReadme(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8')
  const section = text.slice(text.indexOf('\n## Everything else'))
  return section.split('\n').flatMap((line) => {
    const [, cell = ''] = /^\| (`.*?) \|/.exec(line) ?? []
    let below = ''
    return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => {
      const end = name.lastIndexOf('.') + 1
      if (end > 0) below = name.slice(0, end)
      return below + name.slice(end)
    })
  })
}

/** The codes that only the client of TypeScript has. */
export async function errorsInTypeScript(): Promise<string[]> {
  const text = await readFile('packages/js/src/errors.ts', 'utf8')
  const [, members = ''] = /^export type ClientErrorCode =((?:\n {2}\|.*)+)/m.exec(text) ?? []
  return [...members.matchAll(/'(\w+)'/g)].map(([, code = '']) => code)
}

/** The codes that only a client has, as its README lists them. */
export async function errorsInReadme(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8')
  const [, section = ''] = /^## Errors$(.*?)^## /ms.exec(text) ?? []
  return [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, code = '']) => code).slice(1)
}

function methodsOf(client: object, path = ''): string[] {
  return Object.entries(client).flatMap(([name, member]: [string, object]) =>
    typeof member === 'function' ? [path + name] : methodsOf(member, `${path}${name}.`),
  )
}
