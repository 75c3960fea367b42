import { ADMIN_TOKEN } from '../../http/admin/fixture.ts'
import { guideBlock } from './blocks.ts'
import { readerOf, runCommands } from './run.ts'
import type { GuideScene } from './scene.ts'

type Owner = Pick<GuideScene, 'service' | 'user'>

/** Adds the camera of the guide to the user's account, which it makes larger by so many bytes. */
export async function addCamera({ service, user }: Owner, bytes: number): Promise<void> {
  const block = guideBlock('The device')
    .replace('users/alice/', `users/${user.userId}/`)
    .replace('20000000000', String(bytes))
  const variables = { ADMIN_TOKEN, ADMIN_URL: `http://127.0.0.1:${service.adminPort}` }
  await runCommands(block, { reader: readerOf(service, user), variables })
}

/** The token that the guide makes for it. */
export async function issueToCamera({
  service,
  user,
}: Owner): Promise<{ token: string; id: string }> {
  const reader = readerOf(service, user)
  const issued = await runCommands(guideBlock('A token for the camera'), { reader })
  return { token: String(issued['access_token']), id: String(issued['token_id']) }
}
