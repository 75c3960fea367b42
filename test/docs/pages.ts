import { recordTranscripts } from './transcripts.ts'

/** The pages that are made by programs, by the file that each is committed as. */
export async function makePages(): Promise<Readonly<Record<string, string>>> {
  return {
    'docs/http-transcripts.md': await recordTranscripts(),
  }
}
