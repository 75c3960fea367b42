import { describe, expect, it } from 'vitest'
import { runToEnd } from '../programs.ts'

const BASE_URL = 'http://127.0.0.1:9'
const ACCESS_TOKEN = 'crt_...'

describe.each(['camera.sh', 'update.sh'])('%s', (script) => {
  it.each([
    ['BASE_URL', { ACCESS_TOKEN }, ['.', 'a/']],
    ['ACCESS_TOKEN', { BASE_URL }, ['.', 'a/']],
    ['1', { BASE_URL, ACCESS_TOKEN }, []],
    ['2', { BASE_URL, ACCESS_TOKEN }, ['.']],
  ] as const)('ends at once without %s, and names it', async (missing, variables, operands) => {
    const { PATH } = process.env
    const env = { PATH, ...variables }
    const command = ['sh', `docs/examples/${script}`, ...operands] as const
    const { code, stderr } = await runToEnd(command, { env, timeout: 10_000 })
    expect(code).toBeGreaterThan(0)
    expect(stderr).toMatch(new RegExp(`\\b${missing}: .+`))
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })
})
