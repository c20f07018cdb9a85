/** SQL: ids of all workers that the row of `members` was given, in their order, JSON. */
export const WORKERS_OF_MEMBER =
  "(SELECT json_group_array(given.worker_id) FROM (SELECT worker_id FROM leases WHERE member_id = members.id ORDER BY id) AS given)";
