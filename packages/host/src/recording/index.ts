/** Turns as files: recorded while they happen, replayed without model, network or keys. */

export { type RecordingFile, readRecording, recordingFile } from "./file.ts";
export {
  parseRecording,
  type RecordedMessage,
  type RecordedReply,
  type Recording,
  type RecordingEntry,
  type RecordingHead,
} from "./format.ts";
export {
  createRecorder,
  type RecordedTurn,
  type Recorder,
  type RecorderOptions,
  type RecordingSink,
} from "./recorder.ts";
export { type Replayed, type ReplayOptions, replay } from "./replay.ts";
