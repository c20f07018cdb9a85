"""What a site tells the server's observer, over the federation's own authenticated channel."""

TOPIC = "resontech.report"
METRICS = "metrics"
"""list[str]: what followed `RT_METRIC` in lines, oldest first."""
DROPPED = "dropped"
"""int: metric lines that had no room."""
ERROR = "error"
"""{"code": NVFlare's return code, "text": the newest error texts}, of a task that failed."""

MAX_METRICS_IN_REPORT = 500
MAX_ERROR_CHARS = 16_384
