import { preparePage } from '../shared/prepare.ts'
import { takeAccessToken } from './sign-in-link.ts'

void open(takeAccessToken())

async function open(accessToken: string | undefined): Promise<void> {
  await preparePage()
  const { start } = await import('./start.tsx')
  start(accessToken)
}
