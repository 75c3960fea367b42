import { preparePage } from '../shared/prepare.ts'
import { takeAdminToken } from './sign-in-link.ts'

void open(takeAdminToken())

async function open(adminToken: string | undefined): Promise<void> {
  await preparePage()
  const { start } = await import('./start.tsx')
  start(adminToken)
}
