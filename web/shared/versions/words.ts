import { messages } from '../../messages.ts'
import { versionsEnglish, type VersionMessages } from './english.ts'

/** The messages of deleted and earlier versions, in the language that the page is shown in. */
export const words: VersionMessages = messages.versions ?? versionsEnglish
