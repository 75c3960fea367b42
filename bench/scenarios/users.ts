import { randomBytes } from 'node:crypto'
import type { Scenario } from '../scenario.ts'
import { openStack } from '../setup/stack.ts'
import { serviceUploads } from '../sides/uploads.ts'

const USERS = 8

/** Whether users are in each other's way. */
export const users: Scenario = {
  name: 'users-8',
  title: `4 KiB form uploads of ${USERS} users from 16 connections; against one user's`,
  stacks: ['postgres-minio'],
  async open({ stack: name, servers, seconds, profile, opened }) {
    const stack = opened.use(await openStack({ name, servers, profile, users: USERS }))
    const uploads = { stack, content: randomBytes(4 * 2 ** 10), seconds, kind: 'form' } as const
    return {
      subject: serviceUploads({ ...uploads, name: `${USERS} users` }),
      baseline: serviceUploads({
        ...uploads,
        name: '1 user',
        cookies: stack.cookies.slice(0, 1),
      }),
    }
  },
}
