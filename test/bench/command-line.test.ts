import { expect, test } from 'vitest'
import { readCommandLine } from '../../bench/command-line.ts'
import { MARKS } from '../../bench/measure/marks.ts'
import { QUICK, SCENARIOS } from '../../bench/scenarios/all.ts'

const read = (...args: string[]) => readCommandLine(args, SCENARIOS)

test('everything is measured when nothing is asked for', () => {
  expect(read()).toMatchObject({
    scenarios: SCENARIOS,
    stacks: ['sqlite-files', 'sqlite-minio', 'postgres-minio'],
  })
})

test('options choose scenarios, stacks and rounds', () => {
  const asked = read(
    '--scenario',
    'list',
    '--scenario',
    'start',
    '--stack',
    'sqlite-files',
    '--rounds',
    '2',
  )
  expect(asked).toMatchObject({
    scenarios: [{ name: 'start' }, { name: 'list' }],
    stacks: ['sqlite-files'],
    rounds: 2,
  })
})

test('--quick measures the small files behind MinIO', () => {
  const asked = read('--quick')
  expect(asked).toMatchObject({ stacks: ['sqlite-minio', 'postgres-minio'] })
  expect('scenarios' in asked && asked.scenarios.map(({ name }) => name)).toEqual(QUICK)
})

test('what there is not is refused', () => {
  expect(read('--scenario', 'nothing')).toEqual({ wrong: 'Unknown scenario or stack: nothing.' })
  expect(read('--stack', 'none')).toEqual({ wrong: 'Unknown scenario or stack: none.' })
  for (const rounds of ['0', '1.5', 'x']) expect(read('--rounds', rounds)).toHaveProperty('wrong')
})

test('every mark is of a scenario that is measured on its stacks', () => {
  for (const { scenario, stacks } of MARKS) {
    const found = SCENARIOS.find(({ name }) => name === scenario)
    expect(found?.stacks).toEqual(expect.arrayContaining([...stacks]))
  }
})
