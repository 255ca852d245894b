/** The shard that owns a pod (FNV-1a of its UID), for as long as the number of shards stays the same. */
export function shardOfUid(uid: string, shards: number): number {
  if (shards === 1) return 0
  let hash = 0x811c9dc5
  for (let i = 0; i < uid.length; i++) hash = Math.imul(hash ^ uid.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % shards
}
