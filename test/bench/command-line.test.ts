import { expect, test } from 'vitest'
import { readCommandLine } from '../../bench/command-line.ts'
import { MARKS } from '../../bench/measure/marks.ts'
import { PEERS } from '../../bench/peers/all.ts'
import { serveArgs } from '../../bench/peers/pocketbase.ts'
import { QUICK, SCENARIOS } from '../../bench/scenarios/all.ts'
import { peerScenarios } from '../../bench/scenarios/peers.ts'

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

test('--peer measures the embedded default beside other servers instead', () => {
  const asked = read('--quick', '--peer', 'pocketbase=/a=b')
  expect(asked).toMatchObject({ stacks: expect.arrayContaining(['sqlite-files']) as unknown })
  expect('scenarios' in asked && asked.scenarios.map(({ name }) => name)).toEqual([
    'pocketbase-upload-4k',
    'pocketbase-open-upload-4k',
    'pocketbase-download-4k',
    'pocketbase-public-download-4k',
  ])
  const beside = read('--peer', 'pocketbase=/a', '--scenario', 'list')
  expect('scenarios' in beside && beside.scenarios).toHaveLength(5)
})

test('PocketBase is never run in its development mode, in which it prints each statement', () => {
  expect(serveArgs(1, ['--dir', 'a'])).toContain('--dev=false')
})

test('what there is not is refused', () => {
  for (const peer of ['pocketbase', 'pocketbase=', 'nobody=/a', 'constructor=/a']) {
    expect(read('--peer', peer)).toHaveProperty('wrong')
  }
  expect(read('--scenario', 'nothing')).toEqual({ wrong: 'Unknown scenario or stack: nothing.' })
  expect(read('--stack', 'none')).toEqual({ wrong: 'Unknown scenario or stack: none.' })
  for (const scale of ['0', '2', 'x']) expect(read('--scale', scale)).toHaveProperty('wrong')
  for (const rounds of ['0', '1.5', 'x']) expect(read('--rounds', rounds)).toHaveProperty('wrong')
})

test('a run that would measure nothing is refused', () => {
  expect(read('--scenario', 'instances-2', '--stack', 'sqlite-minio')).toEqual({
    wrong: 'instances-2 does not run on sqlite-minio.',
  })
  const both = ['--scenario', 'start', '--scenario', 'instances-2']
  expect(read(...both, '--stack', 'sqlite-minio')).toEqual({
    wrong: 'start, instances-2 do not run on sqlite-minio.',
  })
  expect(read('--scenario', 'start', '--quick')).toEqual({
    wrong: 'start does not run on sqlite-minio, postgres-minio.',
  })
  expect(read(...both, '--stack', 'sqlite-files')).toHaveProperty('scenarios')
})

test('every mark is of a scenario that is measured on its stacks', () => {
  const beside = Object.entries(PEERS).flatMap(([name, peer]) =>
    peerScenarios({ name, peer, program: name }),
  )
  for (const { scenario, stacks } of MARKS) {
    const found = [...SCENARIOS, ...beside].find(({ name }) => name === scenario)
    expect(found?.stacks).toEqual(expect.arrayContaining([...stacks]))
  }
})
