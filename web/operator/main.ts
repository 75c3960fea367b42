import { preparePage } from '../shared/prepare.ts'

void open()

async function open(): Promise<void> {
  await preparePage()
  const { start } = await import('./start.tsx')
  start()
}
