"""Run the stages that have to run, shard by shard."""
