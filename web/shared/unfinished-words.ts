import { messages } from '../messages.ts'
import { unfinishedEnglish, type UnfinishedMessages } from './unfinished-english.ts'

/** The messages of unfinished uploads, in the language that the page is shown in. */
export const words: UnfinishedMessages = messages.unfinished ?? unfinishedEnglish
