"""What the programs of replicas share: a process that is watched, put to sleep and woken. Standard library alone."""
