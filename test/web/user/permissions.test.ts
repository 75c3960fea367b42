import { expect, it } from 'vitest'
import { createClient } from '../../../packages/js/src/client.ts'
import { createPermissions } from '../../../web/user/permissions.ts'
import { createFileList } from '../../../web/user/files/file-list.ts'

const SCOPE = { actions: ['read'], prefix: 'Photos/20' }

it.each(['', 'Photos/', 'Photos/2025/', 'Photos/1999/', 'Garden/'])(
  'a token with a prefix is asked for no name outside of it, whatever the address says: %j',
  async (folder) => {
    const asked: (string | null)[] = []
    const answer: typeof fetch = async (url) => {
      const { pathname, searchParams } = url as URL
      if (pathname === '/session') {
        return Response.json({ user_id: 'alice', scope: SCOPE, expires_at: null })
      }
      asked.push(searchParams.get('prefix'))
      return Response.json({ files: [], prefixes: [], next_cursor: null })
    }
    const client = createClient({ url: 'http://service', fetch: answer })
    const permissions = createPermissions(client)
    await permissions.read()
    const list = createFileList(client.files, permissions)
    list.folder.value = folder
    await list.reload()
    await list.seek('1999')
    expect(asked).toHaveLength(2)
    for (const prefix of asked) expect(prefix).toMatch(/^Photos\/20/)
  },
)
